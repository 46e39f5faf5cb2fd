"""Scripts that build the site of the documentation: `python -m docs.site.build`."""
