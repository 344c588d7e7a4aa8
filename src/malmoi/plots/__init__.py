"""Pictures as SVG: heat maps and histograms. Numbers in, a document out; no library needed."""
