"""Evaluation suites: tasks for encoders, their metrics, and whether models really differ."""
