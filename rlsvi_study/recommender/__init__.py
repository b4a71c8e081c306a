"""The recommendation engine: section 6.3 and appendix E."""
