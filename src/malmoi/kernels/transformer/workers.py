"""Runs the layers in one thread, or in a group: the leader posts batches, workers wait for them.

All threads of a group use the same batch and buffers; the mailbox holds the sizes of the batch.
"""

from malmoi.arrays import Float32Array, Int64Array
from malmoi.kernels.core.barrier import ThreadContext, atomic_load
from malmoi.kernels.core.jit import jit_finite, jit_inline
from malmoi.kernels.core.mailbox import (
    ARRIVALS,
    BARRIERS_PASSED,
    NUM_STATES,
    NUM_TEXTS,
    NUM_TOKENS,
    SHUTDOWN,
    field_address,
    post_job,
    wait_for_job,
)
from malmoi.kernels.transformer.attention import AttentionScratch
from malmoi.kernels.transformer.batch_checks import check_batch
from malmoi.kernels.transformer.layers import (
    ActivationBuffers,
    TokenBatch,
    TransformerWeights,
    run_layers,
)

LEADER = 0
NO_PIPE = -1  # of a leader without workers


def run_worker(
    network: TransformerWeights,
    batch: TokenBatch,
    buffers: ActivationBuffers,
    scratch: AttentionScratch,
    state_slots: Int64Array,
    states: Float32Array,
    mailbox: Int64Array,
    role: tuple[int, int, int],
) -> None:
    """Run the batch in the mailbox as the leader, or one batch after the other as a worker.

    `role` is the number of this thread, the number of threads, and the pipe on which workers
    sleep. A worker stores no states and returns at SHUTDOWN. The leader checks the batch;
    `check_workspace` checks weights and buffers when they are allocated.
    """
    if role[0] == LEADER:
        check_batch(network, batch, buffers, scratch, state_slots, states, mailbox)
    worker_loop(network, batch, buffers, scratch, state_slots, states, mailbox, role)


@jit_finite
def worker_loop(
    network: TransformerWeights,
    batch: TokenBatch,
    buffers: ActivationBuffers,
    scratch: AttentionScratch,
    state_slots: Int64Array,
    states: Float32Array,
    mailbox: Int64Array,
    role: tuple[int, int, int],
) -> None:
    """`run_worker` without checks."""
    thread, num_threads, pipe = role
    job = 0
    while True:
        if thread == LEADER:
            arrivals = atomic_load(field_address(mailbox, ARRIVALS))
            mailbox[BARRIERS_PASSED] = arrivals // num_threads
            mailbox[NUM_STATES] = len(state_slots)
            post_job(mailbox, pipe)
        else:
            job = wait_for_job(mailbox, job, pipe)
        count, texts = mailbox[NUM_TOKENS], mailbox[NUM_TEXTS]
        if count == SHUTDOWN:
            return
        tokens = TokenBatch(
            batch.token_ids[:count], batch.positions[:count], batch.bounds[: texts + 1]
        )
        context = ThreadContext(thread, num_threads, mailbox[ARRIVALS:], mailbox[BARRIERS_PASSED])
        rows, slots = buffer_rows(buffers, count), state_slots[: mailbox[NUM_STATES]]
        run_layers(network, tokens, rows, scratch, slots, states, context)
        if thread == LEADER:
            return


@jit_inline
def buffer_rows(buffers: ActivationBuffers, count: int) -> ActivationBuffers:
    """The first `count` rows of all buffers."""
    return ActivationBuffers(
        buffers.embeddings[:count],
        buffers.hidden[:count],
        buffers.qkv[:count],
        buffers.attn_context[:count],
        buffers.sublayer_out[:count],
        buffers.ffn_hidden[:count],
    )
