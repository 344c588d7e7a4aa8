"""The projector: vectors reduced to points in 2D and 3D, and the page that shows them."""
