"""The work behind the endpoints: loaded models, tokenizing, batching and jobs."""
