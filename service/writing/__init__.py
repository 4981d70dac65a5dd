"""The one way in: drafts, links, chains, and the transaction that writes them."""
