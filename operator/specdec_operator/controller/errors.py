"""What each failure of the API server means for a reconcile."""
