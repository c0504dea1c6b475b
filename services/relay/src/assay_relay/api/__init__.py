"""The process `relay api`: consumers, leases and history over HTTP."""
