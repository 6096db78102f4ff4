"""What the site needs beyond Sphinx and its theme; none of it asks the network for anything."""
