import { Config, Data, Effect, Option, Predicate, Result, Schema, SchemaAST, SchemaIssue, Struct } from "effect"

export type Environment = "development" | "production" | "test"

export class InvalidSetting extends Data.TaggedError("InvalidSetting")<{ readonly message: string }> {}

export class Problems {
  readonly #lines = new Set<string>()
  get lines(): ReadonlyArray<string> {
    return [...this.#lines]
  }
  readonly names = (name: string): boolean => this.lines.some((line) => line.includes(name))
  readonly add = (line: string): void => void this.#lines.add(line)
  readonly refuse = (name: string, value: unknown, expected: string): void =>
    this.add(`${name}="${String(value)}" is not allowed: expected ${expected}.`)
  readonly missing = (name: string, expected: string, called = name): void =>
    this.names(name) ? undefined : this.add(`${called} is missing: expected ${expected}.`)
  readonly end = Effect.suspend(() =>
    this.lines.length === 0 ? Effect.void : Effect.fail(new InvalidSetting({ message: this.lines.join("\n") }))
  )
}

export const variable = (name: string) => Effect.map(Config.option(Config.String(name)), Option.getOrUndefined)

const fromText = (rule: Schema.Constraint, value: string): unknown => {
  const ast = SchemaAST.toEncoded(rule.ast)
  if (SchemaAST.isNumber(ast)) return Number(value)
  return SchemaAST.isBoolean(ast) && (value === "true" || value === "false") ? value === "true" : value
}

type Reader = (problems: Problems, name: string, configured: unknown) => Effect.Effect<unknown, Config.ConfigError>

const readerOf = <S extends Schema.ConstraintDecoder<unknown>>(rule: S, name: string | undefined): Reader => {
  const decode = Schema.decodeUnknownResult(Schema.UndefinedOr(rule))
  const { description, isSecret } = Schema.resolveAnnotations(rule) ?? {}
  return Effect.fnUntraced(function*(problems, path, configured) {
    const found = name === undefined ? undefined : yield* variable(name)
    const value = found === undefined ? configured : fromText(rule, found)
    const decoded = decode(value)
    if (Result.isSuccess(decoded)) return value
    const [issue] = SchemaIssue.makeFormatterStandardSchemaV1()(decoded.failure.issue).issues
    const keys = (issue?.path ?? []).map((key) => typeof key === "object" ? key.key : key)
    const wrong = found ?? keys.reduce<unknown>((at, key) => Predicate.hasProperty(at, key) ? at[key] : at, value)
    const inner = keys.filter((key, index) => index < keys.length - 1 || Predicate.isString(key))
    const [called, hint] = found === undefined
      ? [[path, ...inner].join("."), name === undefined ? "" : ` (${name})`]
      : [name ?? path, ""]
    problems.refuse(called, isSecret === true ? "…" : wrong, `${description}${hint}`)
    return undefined
  })
}

/** A setting without a default. Its environment variable wins. */
export const option = <S extends Schema.ConstraintDecoder<unknown>>(rule: S, name?: string) =>
  Object.assign(Schema.optional(rule), { rule, read: readerOf(rule, name) })

export const setting = <S extends Schema.ConstraintDecoder<unknown>>(rule: S, fallback: S["Encoded"], name?: string) =>
  Object.assign(Schema.withDecodingDefault<S>(Effect.succeed(fallback))(rule), { rule, read: readerOf(rule, name) })

type NumberSetting = ReturnType<typeof setting<Schema.Codec<number>>>
interface ToSetting extends Struct.Lambda {
  (fallback: number): NumberSetting
  readonly "~lambda.out": NumberSetting
}

export const numbers = <D extends Readonly<Record<string, number>>>(defaults: D, rule: Schema.Codec<number>) =>
  group(Struct.map(defaults, Struct.lambda<ToSetting>((fallback) => setting(rule, fallback))))

export const group = <F extends Readonly<Record<string, Schema.Constraint & { readonly read: Reader }>>>(fields: F) => {
  const read: Reader = (problems, name, configured) =>
    Effect.map(
      Effect.forEach(Object.entries(fields), ([key, field]) => {
        const value = Predicate.hasProperty(configured, key) ? configured[key] : undefined
        return Effect.map(field.read(problems, name === "" ? key : `${name}.${key}`, value), (read) => [key, read])
      }),
      Object.fromEntries
    )
  return Object.assign(Schema.Struct(fields), { read })
}

export const valuesOf = <A>(
  settings: Schema.Codec<A, unknown> & { readonly read: Reader },
  configured: unknown,
  problems: Problems,
  name = ""
) => Effect.map(settings.read(problems, name, configured), Schema.decodeUnknownSync(settings))

/** Input of a deployment: each setting may be left out. Editors show its comment. */
export type Options<Fields> = {
  readonly [K in keyof Fields]?: Fields[K] extends { readonly fields: infer Inner } ? Options<Inner>
    : Fields[K] extends { readonly rule: { readonly Encoded: infer Value } } ? Value
    : never
}
