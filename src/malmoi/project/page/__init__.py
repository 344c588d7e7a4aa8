"""The projector's page: the scene packed into sections, and the page's modules."""
