"""A face for a person at a terminal: each verb binds the scope it is given and calls the library."""
