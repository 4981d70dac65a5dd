"""BERT as an ONNX graph, built from a model folder's weights without torch.

The nodes are ONNX Runtime's own for transformers (domain com.microsoft), fused and, where that
pays, in int8. Its fusion does not recognise what torch's present exporter writes, and its
quantiser needs several hundred megabytes more than the model: the graph is written out here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

from embedding_server.errors import CannotStart

Weights = Mapping[str, NDArray[np.float32]]

FUSED = "com.microsoft"
FUSED_VERSION = 1
ONNX_VERSION = 17
# The newest format that every ONNX Runtime since 1.16 reads.
IR_VERSION = 9

INPUT, OUTPUT = "input_ids", "hidden"

# Weights keep seven bits. With eight, the instruction that multiplies bytes on CPUs without VNNI
# saturates in the sum of two products, and vectors would differ from machine to machine.
LARGEST_WEIGHT = 63
# The part of the layers, from the first, whose down projection stays float32. What goes into it
# has outliers that one scale for all serves badly: with none in float32 one of the stored texts
# falls below INT8_COSINE (a test shows it), and the time is the same.
FLOAT_SHARE = 1 / 2


@dataclass(frozen=True, slots=True)
class BertConfig:
    """The part of config.json that shapes the graph."""

    layers: int
    heads: int
    width: int
    epsilon: float


def read_config(folder: Path) -> BertConfig:
    """Read config.json. Raises CannotStart for a model that this graph does not describe."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    wanted = {"model_type": "bert", "hidden_act": "gelu"}
    other = {key: config.get(key) for key, value in wanted.items() if config.get(key) != value}
    if config.get("position_embedding_type", "absolute") != "absolute":
        other["position_embedding_type"] = config["position_embedding_type"]
    if other:
        raise CannotStart(
            f"EMBEDDING_BACKEND=onnx reads BERT models only, and {folder.name} has {other}; "
            "use EMBEDDING_BACKEND=torch"
        )
    return BertConfig(
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        width=config["hidden_size"],
        epsilon=config["layer_norm_eps"],
    )


def build_bert(folder: Path, *, is_quantized: bool) -> ModelProto:
    """Return the graph: token ids (1, tokens) of one text in, hidden states (1, tokens, width) out.

    There is no mask, for there is no padding: a text goes through alone. In int8 the scale of what
    enters a node is that of the whole input, so that the texts of a batch would change each
    other's vectors (cosine down to 0.98).
    """
    weights = load_file(folder / "model.safetensors")
    return _Builder(weights, read_config(folder), is_quantized=is_quantized).build()


class _Builder:
    """Collects nodes and their constants; every value is named for the node that makes it."""

    def __init__(self, weights: Weights, config: BertConfig, *, is_quantized: bool) -> None:
        self._weights = weights
        self._config = config
        self._is_quantized = is_quantized
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []

    def build(self) -> ModelProto:
        """Return the graph; a builder builds once. Raises CannotStart for lacking weights."""
        hidden = self._embed()
        for layer in range(self._config.layers):
            hidden = self._add_layer(layer, hidden)
        self._nodes[-1].output[0] = OUTPUT
        shape: list[str | int | None] = [1, "tokens", self._config.width]
        graph = helper.make_graph(
            self._nodes,
            "bert",
            [helper.make_tensor_value_info(INPUT, TensorProto.INT32, shape[:2])],
            [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, shape)],
            self._constants,
        )
        versions = [
            helper.make_opsetid("", ONNX_VERSION),
            helper.make_opsetid(FUSED, FUSED_VERSION),
        ]
        return helper.make_model(graph, opset_imports=versions, ir_version=IR_VERSION)

    def _embed(self) -> str:
        part = "embeddings"
        # A single text is of the first type throughout, so that row joins the positions.
        positions = (
            self._get(f"{part}.position_embeddings.weight")
            + self._get(f"{part}.token_type_embeddings.weight")[0]
        )
        words = self._keep("words", self._get(f"{part}.word_embeddings.weight"))
        inputs = [INPUT, "", words, self._keep("positions", positions), ""]
        # The second output is a mask index that nobody reads.
        self._add(
            "EmbedLayerNormalization",
            part,
            inputs + self._norm(part),
            epsilon=self._config.epsilon,
            outputs=[part, "mask_index"],
        )
        return part

    def _add_layer(self, layer: int, hidden: str) -> str:
        name, part = f"layer.{layer}", f"encoder.layer.{layer}"
        output = f"{part}.attention.output"
        attended = self._attend(f"{name}.attention", part, hidden)
        projected = self._multiply(f"{name}.attention.output", f"{output}.dense", attended)
        hidden = self._join(f"{name}.attention.norm", output, projected, hidden)
        wide = self._multiply(f"{name}.intermediate", f"{part}.intermediate.dense", hidden)
        bias = self._keep(f"{name}.gelu.bias", self._get(f"{part}.intermediate.dense.bias"))
        curved = self._add("BiasGelu", f"{name}.gelu", [wide, bias])
        narrow = self._multiply(
            f"{name}.output",
            f"{part}.output.dense",
            curved,
            is_float=layer < self._config.layers * FLOAT_SHARE,
        )
        return self._join(f"{name}.norm", f"{part}.output", narrow, hidden)

    def _attend(self, name: str, part: str, hidden: str) -> str:
        three = [f"{part}.attention.self.{which}" for which in ("query", "key", "value")]
        weight = np.concatenate([self._get(f"{one}.weight").T for one in three], axis=1)
        bias = self._keep(f"{name}.bias", np.concatenate([self._get(f"{o}.bias") for o in three]))
        heads = self._config.heads
        if not self._is_quantized:
            kept = self._keep(f"{name}.weight", weight)
            return self._add("Attention", name, [hidden, kept, bias], num_heads=heads)
        values, scales = self._keep_quantized(name, weight)
        outputs = [f"{name}.{which}" for which in ("input", "input_scale", "input_zero")]
        self._add("DynamicQuantizeLinear", f"{name}.quantize", [hidden], domain="", outputs=outputs)
        ids, scale, zero = outputs
        inputs = [ids, values, bias, scale, scales, "", zero]
        return self._add("QAttention", name, inputs, num_heads=heads)

    def _multiply(self, name: str, dense: str, hidden: str, *, is_float: bool = False) -> str:
        weight = self._get(f"{dense}.weight").T
        if is_float or not self._is_quantized:
            kept = self._keep(f"{name}.weight", weight)
            return self._add("MatMul", name, [hidden, kept], domain="")
        return self._add(
            "DynamicQuantizeMatMul", name, [hidden, *self._keep_quantized(name, weight)]
        )

    def _join(self, name: str, part: str, hidden: str, skipped: str) -> str:
        bias = self._keep(f"{name}.dense.bias", self._get(f"{part}.dense.bias"))
        return self._add(
            "SkipLayerNormalization",
            name,
            [hidden, skipped, *self._norm(part), bias],
            epsilon=self._config.epsilon,
        )

    def _norm(self, part: str) -> list[str]:
        return [
            self._keep(f"{part}.norm.{which}", self._get(f"{part}.LayerNorm.{which}"))
            for which in ("weight", "bias")
        ]

    def _get(self, name: str) -> NDArray[np.float32]:
        try:
            return self._weights[name].astype(np.float32)
        except KeyError as error:
            raise CannotStart(f"the model's weights lack {error}") from error

    def _keep_quantized(self, name: str, weight: NDArray[np.float32]) -> list[str]:
        """Keep an int8 matrix and one scale for each of its columns."""
        scales = np.abs(weight).max(axis=0) / LARGEST_WEIGHT
        scales[scales == 0] = 1.0
        values = np.rint(weight / scales).astype(np.int8)
        return [self._keep(f"{name}.weight", values), self._keep(f"{name}.scale", scales)]

    def _keep(self, name: str, values: NDArray[np.float32] | NDArray[np.int8]) -> str:
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def _add(
        self,
        kind: str,
        name: str,
        inputs: list[str],
        *,
        domain: str = FUSED,
        outputs: list[str] | None = None,
        **attributes: Any,
    ) -> str:
        node = helper.make_node(
            kind, inputs, outputs or [name], name=name, domain=domain, **attributes
        )
        self._nodes.append(node)
        return name
