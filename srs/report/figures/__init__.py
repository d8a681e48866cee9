"""Charts and plots of the page as inline SVG."""
