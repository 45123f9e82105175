import { Schema } from "effect"
import { Uuid } from "../../../domain/ids/Id.ts"
import { Time } from "../../../domain/pricing/Bounds.ts"
import { FreeText, StorableObject, Text } from "../../../domain/text/Storable.ts"

/** Kinds of columns as PostgreSQL names them. */
export type ColumnKind = "text" | "int4" | "int8" | "bool" | "uuid" | "timestamptz" | "jsonb"

/** Another table that a column points to; `cascade` deletes with it, `restrict` keeps it from being deleted. */
export interface Reference {
  readonly table: string
  /** Both belong to an organization: the row it points to is one of the same. */
  readonly withinOrganization: boolean
  readonly onDelete: "cascade" | "restrict" | "set null"
}

/** Whose rows a value may stand in only once. */
export type Uniqueness = "organization" | "global"

interface Facts {
  readonly kind: ColumnKind
  readonly nullable: boolean
  /** An SQL expression; an insert may omit the column. */
  readonly fallback: string | undefined
  readonly uniqueness: Uniqueness | undefined
  readonly reference: Reference | undefined
  /** Values the database admits; absent: all of the kind. */
  readonly among: ReadonlyArray<string> | undefined
  readonly bounds: readonly [minimum: number, maximum: number] | undefined
}

/**
 * A column of a plugin's table: what the database keeps and what the API shows. Every column has a value unless it is
 * `nullable`. `Given` says whether an insert has to name it.
 */
export class Column<A, E, Given extends boolean = true> {
  /** Only for the compiler: what an insert must name. */
  declare readonly "~given": Given
  readonly schema: Schema.Codec<A, E>
  readonly facts: Facts

  constructor(schema: Schema.Codec<A, E>, facts: Facts) {
    this.schema = schema
    this.facts = facts
  }

  /** May be null, which is what it is when an insert does not name it. */
  get nullable(): Column<A | null, E | null, false> {
    return new Column(Schema.NullOr(this.schema), { ...this.facts, nullable: true })
  }

  /** What it is when an insert does not name it. */
  default(value: A & (string | number | boolean | object)): Column<A, E, false> {
    return new Column(this.schema, { ...this.facts, fallback: literal(this.facts.kind, value) })
  }

  /** The time of the transaction when an insert does not name it; for `timestamp`. */
  get defaultNow(): Column<A, E, false> {
    return new Column(this.schema, { ...this.facts, fallback: "now()" })
  }

  /** A value is unique in the organization, or in the complete service. A second one is 409. */
  unique(uniqueness: Uniqueness = "organization"): Column<A, E, Given> {
    return new Column(this.schema, { ...this.facts, uniqueness })
  }

  /**
   * The id of a row of that table, which the database holds it to. Of a table of the plugin's (and not of the name of any)
   * it is a row of the same organization.
   */
  references(
    table: string | { readonly name: string; readonly kind: "organization" | "child" },
    onDelete: Reference["onDelete"] = "cascade"
  ): Column<A, E, Given> {
    const reference = typeof table === "string"
      ? { table, onDelete, withinOrganization: false }
      : { table: table.name, onDelete, withinOrganization: table.kind === "organization" }
    return new Column(this.schema, { ...this.facts, reference })
  }
}

/** A column of any type. */
export type AnyColumn = Column<unknown, unknown, boolean>

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

const literal = (kind: ColumnKind, value: string | number | boolean | object): string =>
  typeof value === "object" ? `${quoted(JSON.stringify(value))}::jsonb` : `${quoted(String(value))}::${kind}`

const plain = (kind: ColumnKind, rest: Partial<Facts> = {}): Facts => ({
  kind,
  nullable: false,
  fallback: undefined,
  uniqueness: undefined,
  reference: undefined,
  among: undefined,
  bounds: undefined,
  ...rest
})

/** A text of 1 to 255 characters without the null character, which PostgreSQL cannot keep. */
export const text = new Column(Text, plain("text"))

/** A text of up to 10,000 characters, empty included, without an index: a description, a reason, a file URL. */
export const longText = new Column(FreeText.check(Schema.isMaxLength(10_000)), plain("text"))

/** One of these words; the database refuses others. */
export const oneOf = <const Words extends readonly [string, ...ReadonlyArray<string>]>(words: Words) =>
  new Column(Schema.Literals(words), plain("text", { among: words }))

/** A whole number between the limits of four bytes, or closer ones, which the database checks too. */
export const integer = new Column(
  Schema.Int.check(Schema.isBetween({ minimum: -2_147_483_648, maximum: 2_147_483_647 })),
  plain("int4")
)

/** A whole number from `minimum` to `maximum`. */
export const integerBetween = (minimum: number, maximum: number) =>
  new Column(Schema.Int.check(Schema.isBetween({ minimum, maximum })), plain("int4", { bounds: [minimum, maximum] }))

/** An amount in minor units of some currency, also below zero; never a fraction. */
export const amount = new Column(
  Schema.Int.check(Schema.isBetween({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })),
  plain("int8")
)

export const boolean = new Column(Schema.Boolean, plain("bool"))

/** An id of a row of the plugin's (`references`). */
export const uuid = new Column(Uuid, plain("uuid"))

/** An id of a record of the core: `idOf(OrderId)`. */
export const idOf = <Id extends string>(id: Schema.Codec<Id, string>) => new Column(id, plain("uuid"))

/** A moment: a `Date` in code, ISO 8601 with milliseconds and Z in the API. */
export const timestamp = new Column(Time, plain("timestamptz"))

/** Any JSON object. */
export const json = new Column(StorableObject, plain("jsonb"))

/** JSON of this shape. Rows are read without decoding, because only this schema writes them. */
export const jsonOf = <A, E>(schema: Schema.Codec<A, E>) => new Column(schema, plain("jsonb"))
