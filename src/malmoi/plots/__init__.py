"""Heat maps, histograms, dot, line and scatter plots as SVG, without a plotting library."""
