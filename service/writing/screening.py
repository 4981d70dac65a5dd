"""Screening a document before anything is done with its text: cutting, hashing, learning names."""

from dataclasses import replace

from service.drafts.drafts import DocumentText
from service.sanitise.sanitiser import Sanitiser
from service.text.clean import clean_text


def screen_document(sanitiser: Sanitiser, document: DocumentText) -> DocumentText:
    """Return a document as it may be stored, with what was done to it; raises TextRefused.

    Its lines stay where they are. Reading takes control characters out: where a secret would come
    together by that, the text without them is what is screened.
    """
    text, cleaned = document.text, clean_text(document.text).text
    if cleaned != text and sanitiser.mask(cleaned) != cleaned:
        text = cleaned
    screened = sanitiser.screen(
        {"text": text, "source": document.uri, "scope": document.scope or ""},
        document.sender.origin,
    )
    texts = screened.texts
    return replace(
        document, text=texts["text"], uri=texts["source"], scope=texts["scope"] or None,
        is_screened=True, is_quarantined=screened.is_quarantined, screened=screened.warnings,
    )  # fmt: skip
