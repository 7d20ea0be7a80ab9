"""Reads every example of the document with the models that were generated from it.

    models.py DOCUMENT FOLDER_OF_LBCF_WEBHOOKS_MODULE
"""

import importlib
import json
import sys


def main(document_path: str, folder: str) -> None:
    sys.path.insert(0, folder)
    models = importlib.import_module("lbcf_webhooks")
    with open(document_path, encoding="utf-8") as file:
        document = json.load(file)
    read = 0
    for path, item in document["paths"].items():
        post = item["post"]
        for content in (post["requestBody"]["content"], post["responses"]["200"]["content"]):
            media = content["application/json"]
            model = getattr(models, media["schema"]["$ref"].rsplit("/", 1)[1])
            examples = media["examples"]
            assert examples, f"{path} has no examples"
            for name, example in examples.items():
                model.model_validate(example["value"])
                read += 1
    print(f"{read} examples read by the generated models")


if __name__ == "__main__":
    main(*sys.argv[1:])
