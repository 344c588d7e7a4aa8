"""Language models as values: what they hold and what can be asked of them.

They know nothing of corpora, nor of how they were trained.
"""
