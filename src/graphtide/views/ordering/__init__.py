"""In which order the views of a collection cost the fewest differences."""

from graphtide.views.ordering.christofides import christofides_tour
from graphtide.views.ordering.distances import group_masks, mask_distances
from graphtide.views.ordering.order import Order, OrderMethod, order_views

__all__ = ["Order", "OrderMethod", "christofides_tour", "group_masks", "mask_distances", "order_views"]
