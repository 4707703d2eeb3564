"""Shows: adapters to copy, for a dict, for SQLite with a filter and for LangGraph's SQLite store."""
