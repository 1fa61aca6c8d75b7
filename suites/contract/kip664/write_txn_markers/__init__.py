"""WriteTxnMarkers in an operator's hand."""
