"""Heat maps and histograms as SVG, without a plotting library."""
