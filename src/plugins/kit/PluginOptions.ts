import { Effect, Predicate, Result, Schema } from "effect"
import { issuesOf } from "../../domain/platform/text/Issues.ts"
import { definePlugin, type OptionRow, type Plugin, type PluginManifest } from "./Plugin.ts"

/** What the documentation says of an option. */
interface About {
  readonly description: string
  /** Absent: without it the option has no value. */
  readonly fallback?: unknown
}

/** An option without a default. */
export const option = <S extends Schema.Constraint>(rule: S, description: string) =>
  Object.assign(Schema.optional(rule), { about: { description } as About })

/** An option with a default. */
export const setting = <S extends Schema.Constraint>(rule: S, fallback: S["Encoded"], description: string) =>
  Object.assign(Schema.withDecodingDefault<S>(Effect.succeed(fallback))(rule), {
    about: { description, fallback } as About
  })

/** An option that only code can describe, as an adapter: the type checker is its only rule. */
export const code = <A>() => Schema.declare((_: unknown): _ is A => true)

/** A struct of options, made with `option` and `setting`. */
type Options<A, E> = Schema.Codec<A, E> & { readonly fields: Readonly<Record<string, unknown>> }

/** A manifest without the id, which a wrong option is reported with. */
type WithoutId<Services, Used> = Omit<PluginManifest<Services, Used>, "id">

const rowsOf = (fields: Readonly<Record<string, unknown>>): ReadonlyArray<OptionRow> =>
  Object.entries(fields).map(([name, field]) => {
    const about = Predicate.hasProperty(field, "about") ? Object(field.about) : {}
    const { description = "", fallback } = about
    return { name, description, fallback: fallback === undefined ? "none" : JSON.stringify(fallback) }
  })

/**
 * A plugin with options: a function that `commerce.config.ts` calls with their values. What the schema refuses, also a
 * misspelt name, ends the start with a sentence that names the plugin and the option.
 *
 *   export const loyalty = pluginWith("loyalty", Schema.Struct({
 *     pointsPerUnit: setting(Schema.Int, 1, "Points for each unit of money")
 *   }), ({ pointsPerUnit }) => ({ version: "1.0.0", ... }))
 */
export const pluginWith = <A, E, Services = never, Used = never>(
  id: string,
  options: Options<A, E>,
  manifest: (options: A) => WithoutId<Services, Used>
) => {
  const decode = Schema.decodeUnknownResult(options, { errors: "all", onExcessProperty: "error" })
  const rows = rowsOf(options.fields)
  return (...[given]: {} extends E ? [given?: E] : [given: E]): Plugin => {
    const read = decode(given ?? {})
    if (Result.isSuccess(read)) return { ...definePlugin({ ...manifest(read.success), id }), options: rows }
    const flaws = issuesOf(read.failure).map(({ message, path }) =>
      `Plugin "${id}": option "${path}" is not allowed. ${message}.`
    )
    return { ...definePlugin({ id, version: "0.0.0" }), options: rows, flaws }
  }
}

/** The options of a plugin as a table of Markdown. */
export const optionsTable = ({ options }: Pick<Plugin, "options">): string =>
  ["| option | default | |", "|---|---|---|"].concat(
    options.map(({ description, fallback, name }) =>
      `| \`${name}\` | ${fallback === "none" ? "none" : `\`${fallback}\``} | ${description} |`
    )
  ).join("\n")
