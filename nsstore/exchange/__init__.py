"""Carries records in and out of one bound scope: JSON lines, and folders of Markdown.

What comes in is somebody else's: it says what a record is, and never whose it is or where it goes. What
goes out says nothing that its reader could not read.
"""
