import { Effect, Schema } from "effect"
import { ValidationFailed } from "../../domain/errors/ApiErrors.ts"

const longestAlt = 1_000

const fields = Effect.fnUntraced(function*(sent: Readonly<Record<string, string>>) {
  const { alt = "", isPublic = "false" } = sent
  if (alt.length > longestAlt) {
    return yield* Effect.fail(ValidationFailed.of("alt", `expected at most ${longestAlt} characters`))
  }
  if (isPublic !== "true" && isPublic !== "false") {
    return yield* Effect.fail(ValidationFailed.of("isPublic", "expected true or false"))
  }
  return { alt: alt.trim() === "" ? null : alt, isPublic: isPublic === "true" }
})

/** The form of an upload (spec §2, media asset). */
export const Upload = {
  /** As the document shows it; what is read is a stream of its parts. */
  form: Schema.Struct({
    file: Schema.String.annotate({ format: "binary" }),
    alt: Schema.optional(
      Schema.String.check(Schema.isMaxLength(longestAlt)).annotate({
        description: "What the file shows, for whoever cannot see it."
      })
    ),
    isPublic: Schema.optional(
      Schema.Literals(["true", "false"]).annotate({
        description: "Everybody may see it, also while nothing that is published shows it. Default false."
      })
    )
  }).annotate({ identifier: "MediaUpload" }),
  /** What the form says of its file; an alt that says nothing is none (contract §10). */
  fields
}
