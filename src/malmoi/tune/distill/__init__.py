"""Distillation to another language: a student learns a teacher's vectors from translations."""
