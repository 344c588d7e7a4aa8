"""What is answered at each path."""

from malmoi.serve.endpoints import Endpoint
from malmoi.serve.routes import asking, bert_as_service, embed, openai, state, tokenize

ENDPOINTS: tuple[Endpoint, ...] = (
    *openai.ENDPOINTS,
    *embed.ENDPOINTS,
    *bert_as_service.ENDPOINTS,
    *tokenize.ENDPOINTS,
    *asking.ENDPOINTS,
    *state.ENDPOINTS,
)
