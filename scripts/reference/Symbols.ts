import ts from "typescript-api"

/** A member of a type, or an export, as the reference shows it. */
export interface Entry {
  readonly name: string
  readonly signature: string
  /** The first sentence of its comment; empty without one. */
  readonly says: string
}

const flags = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.WriteArrayAsGenericType |
  ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope | ts.TypeFormatFlags.OmitParameterModifiers

/** The program of everything that a plugin imports. */
export const programOf = (root: string, files: ReadonlyArray<string>): ts.Program => {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(`${root}/tsconfig.json`, ts.sys.readFile).config,
    ts.sys,
    root
  )
  return ts.createProgram(files, options)
}

/** The first sentence of a comment, in one line. */
const firstSentence = (text: string): string => {
  const line = text.replace(/\s+/g, " ").trim()
  const end = /[.:](?=\s[A-Z`]|$)/.exec(line)?.index
  return end === undefined ? line : `${line.slice(0, end)}.`
}

/** A type in one line; one that is very long is cut off. */
const shown = (text: string, longest = 400): string => {
  const line = text.replace(/import\("[^"]*"\)\./g, "").replace(/\s+/g, " ").trim()
  return line.length <= longest ? line : `${line.slice(0, longest)} …`
}

/**
 * Names of types by how the compiler writes them out: the types of records are read off schemas, and the compiler shows
 * them field by field. The first name wins, longer texts come first.
 */
const namesOf = (program: ts.Program, checker: ts.TypeChecker): Array<readonly [text: string, name: string]> => {
  const names = new Map<string, string>()
  const sources = program.getSourceFiles().filter(({ fileName }) => !fileName.includes("/node_modules/"))
  for (const statement of sources.flatMap(({ statements }) => statements)) {
    if (!ts.isTypeAliasDeclaration(statement) || statement.typeParameters !== undefined) continue
    if (statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) !== true) continue
    const type = checker.getTypeAtLocation(statement.name)
    const text = checker.typeToString(type, undefined, flags | ts.TypeFormatFlags.InTypeAlias)
    if ((text.length > 60 || /^string & Brand<"\w+">$/.test(text)) && !names.has(text)) {
      names.set(text, statement.name.text)
    }
  }
  return [...names].toSorted(([one], [other]) => other.length - one.length)
}

/** Reads symbols of a program. */
export class Symbols {
  readonly #checker: ts.TypeChecker
  readonly #names: ReturnType<typeof namesOf>
  readonly #program: ts.Program
  readonly #used = new Map<string, string>()

  constructor(program: ts.Program) {
    this.#program = program
    this.#checker = program.getTypeChecker()
    this.#names = namesOf(program, this.#checker)
  }

  /** A type as a reader knows it. */
  #textOf(type: ts.Type): string {
    return shown(this.#named(this.#checker.typeToString(type, undefined, flags)))
  }

  #named(text: string, except?: string): string {
    let short = text
    for (const [long, name] of this.#names) {
      if (name === except || !short.includes(long)) continue
      short = short.replaceAll(`(${long})`, name).replaceAll(long, name)
      this.#used.set(name, long)
    }
    return short
  }

  /** The records that the entries so far name, and those that they name, by name. */
  records(): ReadonlyArray<Entry> {
    const found = new Map<string, Entry>()
    for (let size = -1; size < this.#used.size;) {
      size = this.#used.size
      for (const [name, text] of this.#used) {
        if (found.has(name) || !text.startsWith("{")) continue
        found.set(name, { name, signature: shown(this.#named(text, name), 2_000), says: "" })
      }
    }
    return [...found.values()].toSorted((one, other) => one.name < other.name ? -1 : 1)
  }

  /** The words of a union of texts. */
  wordsOf(symbol: ts.Symbol): ReadonlyArray<string> {
    const type = this.#typeOf(this.#resolved(symbol))
    return type.isUnion() ? type.types.flatMap((one) => one.isStringLiteral() ? [one.value] : []) : []
  }

  #resolved(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol
  }

  /** What a module exports, by name, in the order of the module. */
  exportsOf(file: string): ReadonlyArray<ts.Symbol> {
    const source = this.#program.getSourceFile(file)
    const module = source === undefined ? undefined : this.#checker.getSymbolAtLocation(source)
    if (module === undefined) throw new Error(`${file} exports nothing.`)
    return this.#checker.getExportsOfModule(module)
  }

  isType(symbol: ts.Symbol): boolean {
    return (this.#resolved(symbol).flags & ts.SymbolFlags.Value) === 0
  }

  /** The module that declares it, by its path. */
  fileOf(symbol: ts.Symbol): string {
    return this.#resolved(symbol).declarations?.[0]?.getSourceFile().fileName ?? ""
  }

  #typeOf(symbol: ts.Symbol): ts.Type {
    const [declaration] = symbol.declarations ?? []
    return symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias | ts.SymbolFlags.Class)
      ? this.#checker.getDeclaredTypeOfSymbol(symbol)
      : declaration === undefined
      ? this.#checker.getTypeOfSymbol(symbol)
      : this.#checker.getTypeOfSymbolAtLocation(symbol, declaration)
  }

  /** An export or a member. */
  entryOf(symbol: ts.Symbol): Entry {
    const found = this.#resolved(symbol)
    const optional = found.flags & ts.SymbolFlags.Optional ? "?" : ""
    return {
      name: `${symbol.name}${optional}`,
      signature: this.#textOf(this.#typeOf(found)),
      says: firstSentence(ts.displayPartsToString(found.getDocumentationComment(this.#checker)))
    }
  }

  /** The members of a type, a value or an interface, which are not those of JavaScript. */
  membersOf(symbol: ts.Symbol): ReadonlyArray<ts.Symbol> {
    return this.#checker.getPropertiesOfType(this.#typeOf(this.#resolved(symbol)))
      .filter((member) => !this.fileOf(member).includes("/node_modules/") && !member.name.startsWith("~"))
  }
}
