"""Tells: a report of the suite as JUnit XML, as one HTML page, and as JSON."""
