"""Beyond the paper, for one's own problem: the bootstrap, tables with a discount, bases for boxes,
Gymnasium's environments."""
