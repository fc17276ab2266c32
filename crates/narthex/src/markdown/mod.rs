//! Markdown as it comes from and goes to files.
