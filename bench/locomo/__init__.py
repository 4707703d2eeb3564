"""Ten very long conversations with annotated questions (LoCoMo, ACL 2024), imported and asked."""
