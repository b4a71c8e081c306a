"""What a claim is, how data become a word, and what the judges found."""
