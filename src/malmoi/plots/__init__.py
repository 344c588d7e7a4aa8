"""Heat maps, histograms and dot plots as SVG, without a plotting library."""
