"""What the paper does not need: the measurements behind the guide. No topic imports from here."""
