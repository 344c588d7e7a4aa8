"""Language models as values: their data and the queries they answer.

The models do not depend on corpora or on training.
"""
