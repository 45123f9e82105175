import { Schema, SchemaAST } from "effect"

/*
 * Annotations of schemas that only the OpenAPI document reads. They stand at the encoded side, which is what it shows.
 */

/** Tells generated screens the kind of a number, or the kind of record that an id names. */
export interface Hint {
  readonly kind?: "money"
  /** The field beside it that has the currency. */
  readonly currency?: string
  readonly ref?: string
}

/** The keys of annotations that the document takes over; `typeKey` replaces the schema it stands at. */
export const hintKey = "x-stoa"
export const typeKey = "x-type"

/**
 * Describes a field in place of what its schema says. Schemas with an identifier keep what they say: they stand once in the
 * document.
 */
export const about = (description?: string, hint?: Hint) => <S extends Schema.Top>(schema: S): S["Rebuild"] => {
  const said = { ...(description && { description }), ...(hint && { [hintKey]: hint }) }
  if (Object.keys(said).length === 0) return schema
  // Flipping copies the records inside, which then stand twice in the document.
  if (schema.ast.encoding === undefined) return annotated(schema, said)
  return Schema.flip(annotated(Schema.flip(schema), said))
}

const annotated = <S extends Schema.Top>(schema: S, said: Schema.Annotations.Documentation<unknown>): S["Rebuild"] => {
  const isNamed = SchemaAST.resolveIdentifier(schema.ast) !== undefined
  return (isNamed ? schema : schema.annotate(said)).annotateKey(said)
}

/** The annotation of amounts in minor units: the document adds their currency from the field beside them. */
export const money = { [hintKey]: { kind: "money" } satisfies Hint }

/** The annotations of all values of a kind. */
export const hinted = (description: string, hint: Hint) => ({ description, [hintKey]: hint })

/** A query parameter that is read from a text more generously than clients are asked to write it. */
export const typedAs = (schema: { readonly [keyword: string]: string | number | boolean }) => ({ [typeKey]: schema })

/** Of a parameter that `true` switches on. */
export const asFlag = typedAs({ type: "boolean" })

/** A whole number that is read from a text. */
export const wholeNumber = (minimum: number, maximum: number, description?: string) =>
  Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum, maximum })).pipe(
    Schema.annotateEncoded({ ...(description && { description }), ...typedAs({ type: "integer", minimum, maximum }) })
  )
