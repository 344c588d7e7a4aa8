"""Tests of malmoi.reporting."""
