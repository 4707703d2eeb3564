"""A face for an agent: tools over the Model Context Protocol, in the one scope that the host bound."""
