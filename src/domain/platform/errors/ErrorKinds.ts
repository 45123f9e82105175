import { Conflict, Forbidden, NotFound, ValidationFailed } from "./ApiErrors.ts"

/*
 * One class per failure, beside the rule that fails:
 *
 * export class BrandNotFound extends notFound("Brand", "Brand not found.") {}
 *
 * The tag is for `catchTag`; the client reads status, code and message.
 */

type Sentence<Details extends ReadonlyArray<unknown>> = string | ((...details: Details) => string)

const text = <Details extends ReadonlyArray<unknown>>(sentence: Sentence<Details>, details: Details): string =>
  typeof sentence === "string" ? sentence : sentence(...details)

/** The stable word of a tag: `CartHeld` is `cart_held`. */
export const wordOf = (tag: string): string => tag.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toLowerCase()

/** 404 of one kind of record. */
export const notFound = <const Tag extends string, Details extends ReadonlyArray<unknown> = []>(
  tag: Tag,
  sentence: Sentence<Details>
) =>
  class extends NotFound {
    override readonly _tag = `NotFound/${tag}` as const
    constructor(...details: Details) {
      super({ error: { code: "NOT_FOUND", message: text(sentence, details) } })
    }
  }

/** 409 of one rule, whose reason is its tag in lower case. `retryable`: the same request may succeed a moment later. */
export const conflict = <const Tag extends string, Details extends ReadonlyArray<unknown> = []>(
  tag: Tag,
  sentence: Sentence<Details>,
  { retryable = false }: { readonly retryable?: boolean } = {}
) =>
  class extends Conflict {
    override readonly _tag = `Conflict/${tag}` as const
    constructor(...details: Details) {
      super({
        error: {
          code: "CONFLICT",
          message: text(sentence, details),
          details: { reason: wordOf(tag), retryable }
        }
      })
    }
  }

/** 403 of one rule. */
export const forbidden = <const Tag extends string, Details extends ReadonlyArray<unknown> = []>(
  tag: Tag,
  sentence: Sentence<Details>
) =>
  class extends Forbidden {
    override readonly _tag = `Forbidden/${tag}` as const
    constructor(...details: Details) {
      super({ error: { code: "FORBIDDEN", message: text(sentence, details) } })
    }
  }

/**
 * 422 of one field by its dotted path; empty: the request as such. A sentence that begins with `must`, `cannot` or `is` gets
 * it as subject. Without a code it is the tag in lower case.
 */
export const invalid = <const Tag extends string, Details extends ReadonlyArray<unknown> = []>(
  tag: Tag,
  path: Sentence<Details>,
  sentence: Sentence<Details>,
  code: Sentence<Details> = wordOf(tag)
) =>
  class extends ValidationFailed {
    override readonly _tag = `ValidationFailed/${tag}` as const
    constructor(...details: Details) {
      super(
        ValidationFailed.issues([{
          path: text(path, details),
          message: text(sentence, details),
          code: text(code, details)
        }])
      )
    }
  }
