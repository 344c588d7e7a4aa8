"""A client for `malmoi serve`, with the interface of bert-as-service's BertClient."""
