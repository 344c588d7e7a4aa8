"""Fine-tunes a transformer with a linear layer on labelled texts, and calibrates it.

The network, its packed batches and the cache of frozen layers are those of `tune_sentence`; the
objective is the cross-entropy of labels.
"""

from math import sqrt

import numpy as np
from torch import Tensor, nn

from malmoi.arrays import Float32Array, Float64Array, Int64Array
from malmoi.classify.base.outputs import Outputs, calibrated, calibration_rows, common_fields
from malmoi.classify.networks.losses import ClassLoss, DevLoss
from malmoi.classify.networks.settings import FineTunedClassifier
from malmoi.classify.networks.transformer_classifier import TransformerClassifier, UnsavedFolder
from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.files.checkpoint import Checkpointer, RunFingerprint
from malmoi.models.nnlm_network import repeatable
from malmoi.reporting.reporter import Reporter
from malmoi.train.common.loop import TrainingLoop
from malmoi.tune.data.batches import NumberedExamples, epoch_batches
from malmoi.tune.data.labelled_set import LabelledSet
from malmoi.tune.data.numbering import tokenize_texts
from malmoi.tune.saving import save_tuned
from malmoi.tune.sentence.objectives import VectorColumns
from malmoi.tune.sentence.trainer import SentenceTrainer
from malmoi.tune.sentence.tuning import check_layers, network_to_tune
from malmoi.unicode import normalize


class LabelObjective(nn.Module):
    """The loss of labels by a linear layer, which is trained along; its weights begin at 0.

    Vectors are often of length 1, with small numbers: they are multiplied by √dim.
    """

    def __init__(self, dim: int, outputs: int, loss: ClassLoss) -> None:
        super().__init__()
        self.layer, self.loss, self.scale = nn.Linear(dim, outputs), loss, sqrt(dim)
        nn.init.zeros_(self.layer.weight)
        nn.init.zeros_(self.layer.bias)

    def forward(self, columns: VectorColumns, labels: Tensor) -> Tensor:
        """The loss of one column of vectors; labels are targets [texts, outputs]."""
        loss: Tensor = self.loss(self.layer(self.scale * columns[0]), labels)
        return loss

    def head(self) -> tuple[Float32Array, Float32Array]:
        """Weight [outputs, dim] and bias [outputs] for vectors as they are."""
        weight = (self.scale * self.layer.weight).detach().numpy().copy()
        return weight, self.layer.bias.detach().numpy().copy()

    def scores(self, vectors: Float32Array) -> Float64Array:
        """The scores of vectors, [texts, outputs]."""
        weight, bias = self.head()
        scores: Float64Array = vectors.astype(np.float64) @ weight.T + bias
        return scores


def fit_transformer(
    data: LabelledSet, settings: FineTunedClassifier, reporter: Reporter
) -> TransformerClassifier:
    """A fine-tuned transformer; some of the texts choose the best state, and calibrate it."""
    encoder = load_transformer(settings.model)
    check_layers(encoder, settings.freeze_layers)
    outputs, held_out = Outputs.of(data), calibration_rows(data, settings)
    with repeatable(settings.seed, settings.threads):
        trainer, objective = _trained(encoder, data, outputs, held_out, settings, reporter)
    unsaved = UnsavedFolder()
    folder = unsaved.path / "model"
    save_tuned(encoder, trainer.network, folder, "")
    weight, bias = objective.head()
    common = common_fields(data, softmax=outputs.softmax)
    common.metadata["fine-tuned from"] = settings.model
    classifier = TransformerClassifier(
        encoder=load_transformer(str(folder)),
        head_weight=weight,
        head_bias=bias,
        unsaved=unsaved,
        **common._asdict(),
    )
    return calibrated(classifier, data, outputs, held_out)


def _trained(
    encoder: TransformerEncoder,
    data: LabelledSet,
    outputs: Outputs,
    held_out: Int64Array,
    settings: FineTunedClassifier,
    reporter: Reporter,
) -> tuple[SentenceTrainer, LabelObjective]:
    """The network and its linear layer after the training."""
    token_ids = tokenize_texts(encoder, [normalize("NFC", text) for text in data.texts], reporter)
    targets = outputs.targets()
    rows = np.delete(np.arange(len(data)), held_out)
    lengths = np.array([len(token_ids[i]) for i in rows])
    examples = NumberedExamples(
        rows[:, np.newaxis], lengths, targets[rows].astype(np.float32), "softmax"
    )
    balanced = targets[rows] if settings.balanced else None
    loss = ClassLoss(softmax=outputs.softmax, balanced=balanced)
    objective = LabelObjective(encoder.dim, outputs.num_outputs, loss)
    trainer = SentenceTrainer(
        network_to_tune(encoder, settings),
        [objective],
        token_ids,
        [examples],
        weight_decay=settings.weight_decay,
        objective_factor=settings.head_factor,
    )
    dev = DevLoss(
        lambda: objective.scores(trainer.vectors(held_out)), targets[held_out], outputs.softmax
    )
    trainer.cache_states(reporter)
    TrainingLoop(
        trainer=trainer,
        epoch_batches=lambda epoch: epoch_batches(
            [examples], settings.batch_size, settings.seed, epoch
        ),
        examples=len(rows),
        settings=settings,
        checkpointer=Checkpointer(None, RunFingerprint({}, ""), resume=False),
        reporter=reporter,
        dev=dev if len(held_out) else None,
        name="fine-tuning",
        unit="texts",
    ).run()
    return trainer, objective
