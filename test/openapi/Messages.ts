import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import ts from "typescript-api"
import { wordOf } from "../../src/domain/platform/errors/ErrorKinds.ts"

const root = join(import.meta.dirname, "../../src")

/** Directories with messages that clients read; the other layers speak to operators. */
const folders = "{domain,entities,http,workflows,plugins,layers/{access,auth,jobs,media,payments,webhooks}}"

export const sources = (): ReadonlyArray<string> =>
  globSync(`${folders}/**/*.ts`, { cwd: root })
    .filter((file) =>
      !/\/test\/|\/testing\/|\/install\/|Command\.ts$|(Mails?|OrderPapers|RowBounds|TableChangesRepo|Templates?|Tables|migrations)\.ts$/
        .test(file)
    )
    .toSorted()

export const sourceText = (file: string): string => readFileSync(join(root, file), "utf8")

/** A message as the sources have it: `{name}` for what is filled in. */
export interface Message {
  readonly module: string
  readonly code: string
  readonly status: string
  readonly text: string
  /** Texts of the paths that an issue may have. */
  readonly paths: ReadonlyArray<string>
}

/** Code and status of the makers of errors, by their name. */
const makers: Readonly<Record<string, readonly [code: string, status: number]>> = {
  notFound: ["NOT_FOUND", 404],
  conflict: ["CONFLICT", 409],
  forbidden: ["FORBIDDEN", 403],
  invalid: ["invalid", 422],
  issue: ["invalid", 422],
  BadRequest: ["BAD_REQUEST", 400],
  Unauthorized: ["UNAUTHORIZED", 401],
  Forbidden: ["FORBIDDEN", 403],
  NotFound: ["NOT_FOUND", 404],
  Conflict: ["CONFLICT", 409],
  PayloadTooLarge: ["PAYLOAD_TOO_LARGE", 413],
  UnsupportedMediaType: ["UNSUPPORTED_MEDIA_TYPE", 415],
  InvalidTransition: ["INVALID_TRANSITION", 422],
  CheckoutFailed: ["CHECKOUT_FAILED", 422],
  Unavailable: ["SERVICE_UNAVAILABLE", 503]
}

const filled = (expression: ts.Expression): string => {
  const names = expression.getText().match(/[A-Za-z_$][\w$]*/g) ?? []
  return `{${
    ts.isConditionalExpression(expression)
      ? "…"
      : names.filter((name) => !/^(all|String|join|map)$/.test(name)).at(-1) ?? "…"
  }}`
}

/** The text of a literal, a template or their sum; undefined for other expressions. */
const textOf = (node: ts.Node): string | undefined => {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map((span) => filled(span.expression) + span.literal.text).join("")
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [textOf(node.left), textOf(node.right)]
    return left === undefined || right === undefined ? undefined : left + right
  }
  return undefined
}

const alternatives: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken
])

/** The texts that an expression may give. */
const textsOf = (node: ts.Node | undefined): ReadonlyArray<string> => {
  if (node === undefined) return []
  const text = textOf(node)
  if (text !== undefined) return [text]
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse].flatMap(textsOf)
  if (ts.isBinaryExpression(node) && alternatives.has(node.operatorToken.kind)) {
    return [node.left, node.right].flatMap(textsOf)
  }
  if (ts.isArrowFunction(node)) return textsOf(node.body)
  return ts.isParenthesizedExpression(node) || ts.isAsExpression(node) ? textsOf(node.expression) : []
}

const property = (node: ts.ObjectLiteralExpression, name: string): ts.Expression | undefined =>
  node.properties.flatMap((one) =>
    ts.isPropertyAssignment(one) && one.name.getText() === name ? [one.initializer] : []
  )[0]

const calledName = ({ expression }: ts.CallExpression | ts.NewExpression): string =>
  ts.isIdentifier(expression)
    ? expression.text
    : ts.isPropertyAccessExpression(expression)
    ? expression.name.text === "of" ? expression.expression.getText() : expression.name.text
    : ""

type Found = Omit<Message, "module">

const madeBy = (node: ts.CallExpression): ReadonlyArray<Found> | undefined => {
  const name = calledName(node)
  const [first, second, third, fourth] = node.arguments
  const isOf = ts.isPropertyAccessExpression(node.expression)
  if (name === "apiError" && second !== undefined && ts.isObjectLiteralExpression(second)) {
    const [code = "?"] = textsOf(property(second, "code"))
    const status = property(second, "status")?.getText() ?? "?"
    return textsOf(third).map((text) => ({ code, status, text, paths: [] }))
  }
  const made = makers[name]
  if (made === undefined || (isOf && !/^[A-Z]/.test(name))) return undefined
  const [path, text, code] = name === "invalid" ? [second, third, fourth] : name === "issue" ?
    [first, second, third]
    : [undefined, isOf ? first : second, undefined]
  const [tag = ""] = isOf ? [] : textsOf(first)
  const own = { conflict: `CONFLICT ${wordOf(tag)}`, invalid: wordOf(tag) }[name]
  const [fixed = own ?? made[0]] = textsOf(code)
  return textsOf(text).map((found) => ({ code: fixed, status: String(made[1]), text: found, paths: textsOf(path) }))
}

const ofObject = (node: ts.ObjectLiteralExpression): ReadonlyArray<Found> | undefined => {
  const [message, code] = [property(node, "message"), property(node, "code")]
  if (message === undefined || code === undefined) return undefined
  const [fixed = "?"] = textsOf(code)
  const path = property(node, "path")
  const status = property(node, "status")?.getText() ?? (path === undefined ? "-" : "422")
  return textsOf(message).map((text) => ({ code: fixed, status, text, paths: textsOf(path) }))
}

/** Functions whose texts are for operators and developers. */
const unseen =
  /^(Error|TypeError|sql|unsafe|die|dieMessage|log\w*|refuse|flaw|statements|annotateLogs|withSpan|about|described|annotate|annotateMerge)$/
/** Properties whose texts describe and do not refuse. */
const described = /^(description|summary|title|label|public|personal|cover|tag)$/

const withoutSubject = /^(?:must|cannot|is) \S/

/** A sentence, or one without its subject. A text that begins with a status describes an operation. */
const reads = (text: string): boolean =>
  !/^\d{3} |^\s|\n/.test(text) && (withoutSubject.test(text) || / .*[a-z})'"][.?]$/.test(text))

const isUnseen = (node: ts.Node): boolean =>
  (ts.isCallExpression(node) || ts.isNewExpression(node)) && unseen.test(calledName(node)) ||
  ts.isTaggedTemplateExpression(node) || ts.isImportDeclaration(node) ||
  (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) ||
  ts.isPropertyAssignment(node) && described.test(node.name.getText())

/** What a source may say to clients. */
const messagesIn = (source: string): ReadonlyArray<Found> => {
  const found: Array<Found> = []
  const visit = (node: ts.Node): void => {
    if (isUnseen(node)) return
    const made = ts.isCallExpression(node)
      ? madeBy(node)
      : ts.isObjectLiteralExpression(node)
      ? ofObject(node)
      : undefined
    found.push(...made ?? [])
    const text = made === undefined ? textOf(node) : undefined
    if (text !== undefined) return void (reads(text) && found.push({ code: "text", status: "-", text, paths: [] }))
    node.forEachChild(visit)
  }
  visit(ts.createSourceFile("source.ts", source, ts.ScriptTarget.Latest, true))
  const known = new Set(found.filter(({ code }) => code !== "text").map(({ text }) => text))
  return found.filter(({ code, text }) => code !== "text" || !known.has(text))
}

/** `carts`, `plugin uom`, `plugin kit`. */
const moduleOf = (file: string): string => {
  const [folder = "", first = "", second = ""] = file.split("/")
  if (folder === "plugins") return `plugin ${first}`
  return folder === "entities" ? folder : first === "platform" ? `platform ${second}` : first.replace(/\.ts$/, "")
}

/** All messages of sources; other texts of `*Api.ts` describe operations. */
export const messagesOf = (files: ReadonlyArray<readonly [file: string, text: string]>): ReadonlyArray<Message> =>
  files.flatMap(([file, text]) =>
    messagesIn(text)
      .filter(({ code }) => code !== "text" || !file.endsWith("Api.ts"))
      .map((found) => ({ module: moduleOf(file), ...found }))
  )

/** Tables with an underscore, which no message names. */
const tables = new Set(
  globSync("**/*.ts", { cwd: root }).filter((file) => !file.includes("/test/")).flatMap((file) =>
    Array.from(
      sourceText(file).matchAll(
        /create table(?: if not exists)? (\w+_\w+)|\b(?:table|childOf)\((?:\w+, "\w+", )?"(\w+_\w+)"/g
      ),
      (
        { 1: core, 2: plugin }
      ) => core ?? plugin ?? ""
    )
  )
)

/** A sentence that begins with its field. */
const ofField = /^[\w.{}]+(?: (?:or|and|\+) [\w.]+)?,? (?:must|cannot|can|is|are|has|names?|leaves|belongs|of|was) /

/** Why a text is no plain sentence; undefined for one that is. */
export const flawOf = ({ code, paths, text }: Pick<Message, "code" | "paths" | "text">): string | undefined => {
  // A prefix of the library for authentication, which its clients know.
  const said = code === "VALIDATION_ERROR" ? text.replace(/^\[[^\]]*\] /, "") : text
  const fields = paths.map((path) => path.split(".").at(-1) ?? "").filter((field) => field !== "")
  if (!/[.?]$|\{(?:message|hint|reason)\}$/.test(said)) return "It does not end with a period."
  const isPredicate = withoutSubject.test(said)
  if (
    !isPredicate && !/^[A-Z{"'“]/.test(said) && !ofField.test(said) &&
    !paths.some((path) => path !== "" && said.startsWith(path))
  ) {
    return "It begins with no capital letter and no field."
  }
  if (!isPredicate && fields.length > 0 && !fields.some((field) => said.includes(field))) {
    return "It does not name its field."
  }
  if (/[\\^]|\[[^\]]*\]|\(\?|[*+]\$|Missing key|\bExpected\b/.test(said)) {
    return "It has a pattern, or words of a validator."
  }
  return (said.match(/\w+_\w+/g) ?? []).some((word) => tables.has(word)) ? "It names a table." : undefined
}
