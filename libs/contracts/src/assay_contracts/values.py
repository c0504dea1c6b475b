"""Accepted values: what an attribute can hold, told apart by `type`."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from assay_contracts import bounds, fields
from assay_contracts.fields import Message, Tuple

Availability = Literal["in_stock", "out_of_stock", "preorder", "backorder", "discontinued"]
Condition = Literal["new", "used", "refurbished", "damaged"]


class TextValue(Message):
    """Words, with their language where it is known."""

    type: Literal["text"] = "text"
    text: Annotated[str, Field(min_length=1, max_length=bounds.DESCRIPTION)]
    lang: Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$", max_length=bounds.LANGUAGE)] | None


class CodeValue(Message):
    """An identifier such as a gtin or a sku, compared by its bytes."""

    type: Literal["code"] = "code"
    code: fields.Code


class NumberValue(Message):
    """A number, with its unit where it has one."""

    type: Literal["number"] = "number"
    number: fields.Number
    unit: Annotated[str, Field(min_length=1, max_length=bounds.UNIT)] | None


class FlagValue(Message):
    """Yes or no."""

    type: Literal["flag"] = "flag"
    flag: bool


class UrlValue(Message):
    """An absolute address."""

    type: Literal["url"] = "url"
    url: fields.Url


class MoneyValue(Message):
    """An amount in an ISO 4217 currency."""

    type: Literal["money"] = "money"
    amount: fields.Number
    currency: fields.Currency


ScalarValue = Annotated[
    TextValue | CodeValue | NumberValue | FlagValue | UrlValue | MoneyValue, Field(discriminator="type")
]


class ListValue(Message):
    """The union of what sources state about a many-valued attribute; no value twice."""

    type: Literal["list"] = "list"
    values: Annotated[Tuple[ScalarValue], Field(min_length=1, max_length=bounds.LIST)]

    @model_validator(mode="after")
    def _check_distinct(self) -> Self:
        if len(set(self.values)) != len(self.values):
            raise ValueError("a value stands twice")
        return self


class OfferValue(Message):
    """What a listing asks for one line, null where it does not say; a price never stands without its currency."""

    type: Literal["offer"] = "offer"
    price: fields.Price | None
    price_high: fields.Price | None
    currency: fields.Currency | None
    availability: Availability | None
    condition: Condition | None
    seller: fields.ShortText | None
    sku: fields.Code | None
    label: fields.ShortText | None
    valid_at: fields.Timestamp | None
    valid_until: fields.DateOrTimestamp | None

    @model_validator(mode="after")
    def _check_price(self) -> Self:
        if self.price is not None and self.currency is None:
            raise ValueError("a price needs a currency")
        if self.price_high is not None and self.price is None:
            raise ValueError("an upper price needs a lower one")
        return self


Value = Annotated[
    TextValue | CodeValue | NumberValue | FlagValue | UrlValue | MoneyValue | ListValue | OfferValue,
    Field(discriminator="type"),
]
