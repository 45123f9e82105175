import { Schema } from "effect"
import { about, type Hint } from "../../../domain/platform/hints/Hints.ts"

/** Kinds of columns as PostgreSQL names them. */
export type ColumnKind = "text" | "int4" | "int8" | "bool" | "uuid" | "timestamptz" | "jsonb" | "numeric" | "date"

/** Another table that a column points to; `cascade` deletes with it, `restrict` keeps it from being deleted. */
export interface Reference {
  readonly table: string
  /** Both belong to an organization: the row it points to is one of the same. */
  readonly withinOrganization: boolean
  readonly onDelete: "cascade" | "restrict" | "set null"
  /** Writers of that table take turns (`excluding`), also those that lock a row of it by referring to it. */
  readonly hasTurn: boolean
}

/** Records of the core that columns can name. */
export type CoreRecord = "customer" | "entity" | "order" | "variant" | "warehouse"

/** Whose rows a value may stand in only once. */
export type Uniqueness = "organization" | "global"

export interface Facts {
  /** Of a list: the kind of its entries. */
  readonly kind: ColumnKind
  readonly isList: boolean
  /** Encrypted, and a part of no row that is read. */
  readonly isSecret: boolean
  readonly nullable: boolean
  /** An SQL expression; an insert may omit the column. */
  readonly fallback: string | undefined
  readonly uniqueness: Uniqueness | undefined
  readonly reference: Reference | undefined
  /** The kind of record of the core that the organization must have when the id is written. */
  readonly existing: CoreRecord | undefined
  /** The kind of record of the core whose id it has (`idOf`), looked up or not. */
  readonly record: CoreRecord | undefined
  /** Values the database admits; absent: all of the kind. */
  readonly among: ReadonlyArray<string> | undefined
  readonly bounds: readonly [minimum: number, maximum: number] | undefined
  /** An organization has few different values of it (`fewValues`). */
  readonly isFew: boolean
  /** A regular expression that texts meet. */
  readonly form: string | undefined
  /** Of a decimal: how many digits it has, and how many of them after the point. */
  readonly digits: readonly [precision: number, scale: number] | undefined
  /** What it holds, for the document. */
  readonly about: string | undefined
  readonly hint: Hint | undefined
}

/** The facts of a column that has nothing special. */
export const plain = (kind: ColumnKind, rest: Partial<Facts> = {}): Facts => ({
  kind,
  isList: false,
  isSecret: false,
  nullable: false,
  fallback: undefined,
  uniqueness: undefined,
  reference: undefined,
  existing: undefined,
  record: undefined,
  among: undefined,
  bounds: undefined,
  isFew: false,
  form: undefined,
  digits: undefined,
  about: undefined,
  hint: undefined,
  ...rest
})

/** The type of a column in statements. */
export const sqlType = ({ digits, isList, kind }: Facts): string =>
  `${kind}${digits === undefined ? "" : `(${digits.join(", ")})`}${isList ? "[]" : ""}`

export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

const literal = (facts: Facts, value: string | number | boolean | object): string => {
  if (facts.isList && Array.isArray(value)) {
    return `array[${value.map((one) => quoted(String(one))).join(", ")}]::${sqlType(facts)}`
  }
  return `${quoted(typeof value === "object" ? JSON.stringify(value) : String(value))}::${sqlType(facts)}`
}

/** A schema as the document describes a column: in its words, and as the id of a row of the table that it refers to. */
const described = <A, E>(schema: Schema.Codec<A, E>, { about: words, hint, reference }: Facts): Schema.Codec<A, E> =>
  about(
    words ?? (reference && `Id of one of the ${reference.table.replaceAll("_", " ")}.`),
    reference === undefined ? hint : { ref: reference.table }
  )(schema)

/**
 * A column of a plugin's table: what the database keeps and what the API shows. Every column has a value unless it is
 * `nullable`. `Given` says whether an insert has to name it.
 */
export class Column<A, E, Given extends boolean = true> {
  /** Only for the compiler: what an insert must name. */
  declare readonly "~given": Given
  readonly schema: Schema.Codec<A, E>
  /** The same as requests name it (`inputOf`). */
  readonly sent: Schema.Codec<A, unknown>
  readonly facts: Facts

  constructor(schema: Schema.Codec<A, E>, facts: Facts, sent: Schema.Codec<A, unknown> = schema) {
    if (facts.isSecret && (facts.fallback ?? facts.uniqueness ?? facts.reference) !== undefined) {
      throw new Error("A secret has no default, is not unique and refers to nothing.")
    }
    this.schema = described(schema, facts)
    this.facts = facts
    this.sent = described(sent, facts)
  }

  /** May be null, which is what it is when an insert does not name it. */
  get nullable(): Column<A | null, E | null, false> {
    return new Column(Schema.NullOr(this.schema), { ...this.facts, nullable: true }, Schema.NullOr(this.sent))
  }

  /** What it is when an insert does not name it. */
  default(value: A & (string | number | boolean | object)): Column<A, E, false> {
    return new Column(this.schema, { ...this.facts, fallback: literal(this.facts, value) }, this.sent)
  }

  /** Says what it holds, where its name does not: the document shows it wherever the column is shown or sent. */
  about(about: string, hint?: Hint): Column<A, E, Given> {
    return new Column(this.schema, { ...this.facts, about, ...(hint && { hint }) }, this.sent)
  }

  /** An amount in minor units, of the row's `currency` unless it says in which other field the currency is. */
  money(currency?: string): Column<A, E, Given> {
    return new Column(this.schema, { ...this.facts, hint: { kind: "money", ...(currency && { currency }) } }, this.sent)
  }

  /** Kept and shown for people only: no code reads it. `test/architecture/PluginEffects.test.ts` refuses others without effect. */
  get forPeople(): this {
    return this
  }

  /** The time of the transaction when an insert does not name it; for `timestamp`. */
  get defaultNow(): Column<A, E, false> {
    return new Column(this.schema, { ...this.facts, fallback: "now()" }, this.sent)
  }

  /**
   * An organization has few different values, such as currencies: rows are counted by each where a list is filtered by it, so
   * that the total of the list reads no rows. `oneOf`, `boolean` and ids of warehouses are so by themselves.
   */
  get fewValues(): Column<A, E, Given> {
    return new Column(this.schema, { ...this.facts, isFew: true }, this.sent)
  }

  /** A value is unique in the organization, or in the complete service. A second one is 409. */
  unique(uniqueness: Uniqueness = "organization"): Column<A, E, Given> {
    return new Column(this.schema, { ...this.facts, uniqueness }, this.sent)
  }

  /**
   * The id of a record of the core that the organization has when it is written; 422 otherwise. A variant is one of the row's
   * `entityId`. The record may be removed later.
   */
  existing(existing: CoreRecord): Column<A, E, Given> {
    return new Column(this.schema, { ...this.facts, existing }, this.sent)
  }

  /**
   * The id of a row of that table, which the database holds it to. Where both tables are of organizations and the table is
   * given (not its name), it is a row of the same one. Another plugin's table needs that plugin in `requires`.
   */
  references(
    table: string | {
      readonly name: string
      readonly kind: "organization" | "child"
      readonly options?: { readonly excluding?: unknown }
    },
    onDelete: Reference["onDelete"] = "cascade"
  ): Column<A, E, Given> {
    const reference = typeof table === "string"
      ? { table, onDelete, withinOrganization: false, hasTurn: false }
      : {
        table: table.name,
        onDelete,
        withinOrganization: table.kind === "organization",
        hasTurn: table.options?.excluding !== undefined
      }
    return new Column(this.schema, { ...this.facts, reference }, this.sent)
  }
}

/** A column of any type. */
export type AnyColumn = Column<unknown, unknown, boolean>

/** A column that rows do not show: inserts and updates write it, and only `TableHandle.secret` reads it. */
export class SecretColumn<A extends string | null, Given extends boolean = true> extends Column<A, A, Given> {
  /** Only for the compiler: rows leave it out. */
  declare readonly "~secret": true

  override about(about: string): SecretColumn<A, Given> {
    return new SecretColumn(this.schema, { ...this.facts, about })
  }

  override get nullable(): SecretColumn<A | null, false> {
    return new SecretColumn(Schema.NullOr(this.schema), { ...this.facts, nullable: true })
  }
}
