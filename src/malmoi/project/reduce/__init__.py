"""Dimension reduction: nearest points, PCA, t-SNE and PaCMAP."""
