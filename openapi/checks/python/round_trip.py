"""Reads each body with the generated models, and writes it: round_trip.py <BODIES >WRITTEN"""

import json
import sys

import lbcf_webhooks


def again(body):
    model = getattr(lbcf_webhooks, body["schema"])
    return model.model_validate(body["body"]).model_dump(mode="json", by_alias=True, exclude_unset=True)


json.dump([again(body) for body in json.load(sys.stdin)], sys.stdout)
