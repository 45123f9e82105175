import { Effect, Predicate, Result, Schema } from "effect"
import { wholeIssue } from "../../domain/platform/errors/ApiErrors.ts"
import { everyIssue, issuesOf } from "../../domain/platform/text/Issues.ts"
import { definePlugin, type OptionRow, type Plugin } from "./Plugin.ts"
import type { ManifestUsing, ServiceTag } from "./PluginManifest.ts"

interface About<A> {
  /** Absent: without it the option has no value. */
  readonly default?: A
  readonly description: string
}

/** An option that has a value, also where the deployment gives none. */
interface Defaulted<A> {
  readonly default: A
  readonly description: string
}

const describe = <S extends Schema.Top>(field: S, about: About<unknown>): S => Object.assign(field, { about })

/**
 * An option of a plugin. Without a schema, `option<PayoutAdapter>({ … })`, it is one that only code can give, and the type
 * checker is its only rule.
 */
export function option<A>(about: Defaulted<A>): Schema.withDecodingDefault<Schema.declare<A>>
export function option<A>(about: { readonly description: string }): Schema.optional<Schema.declare<A>>
export function option<S extends Schema.Constraint>(
  rule: S,
  about: Defaulted<S["Encoded"]>
): Schema.withDecodingDefault<S>
export function option<S extends Schema.Constraint>(
  rule: S,
  about: { readonly description: string }
): Schema.optional<S>
export function option(...given: readonly [About<unknown>] | readonly [Schema.Top, About<unknown>]): Schema.Top {
  const [rule, about] = given.length === 2 ? given : [Schema.declare((_: unknown): _ is unknown => true), ...given]
  return describe(
    about.default === undefined
      ? Schema.optional(rule)
      : Schema.withDecodingDefault<Schema.Top>(Effect.succeed(about.default))(rule),
    about
  )
}

type Options<A, E> = Schema.Codec<A, E> & { readonly fields: Readonly<Record<string, unknown>> }

/** A manifest without the id, which a wrong option is reported with. */
type WithoutId<Services, Tag extends ServiceTag> = Omit<ManifestUsing<Services, Tag>, "id">

const describeOptions = (fields: Readonly<Record<string, unknown>>): ReadonlyArray<OptionRow> =>
  Object.entries(fields).map(([name, field]) => {
    const about = Predicate.hasProperty(field, "about") ? Object(field.about) : {}
    const { default: value, description = "" } = about
    return { name, description, fallback: value === undefined ? "none" : JSON.stringify(value) }
  })

/**
 * A plugin with options: a function that `commerce.config.ts` calls with their values. What the schema refuses, also a
 * misspelt name, ends the start with a sentence that names the plugin and the option.
 *
 *   export const loyalty = pluginWith("loyalty", Schema.Struct({
 *     pointsPerUnit: option(Schema.Int, { default: 1, description: "Points for each unit of money" })
 *   }), ({ pointsPerUnit }) => ({ version: "1.0.0", ... }))
 */
export const pluginWith = <A, E, Services = never, Tag extends ServiceTag = never>(
  id: string,
  options: Options<A, E>,
  manifest: (options: A) => WithoutId<Services, Tag>
) => {
  const decode = Schema.decodeUnknownResult(options, { ...everyIssue, onExcessProperty: "error" })
  const rows = describeOptions(options.fields)
  return (...[given]: {} extends E ? [given?: E] : [given: E]): Plugin => {
    const read = decode(given ?? {})
    if (Result.isSuccess(read)) return { ...definePlugin({ ...manifest(read.success), id }), options: rows }
    const flaws = issuesOf(read.failure).map((issue) => `Plugin "${id}": ${wholeIssue(issue).message}`)
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
