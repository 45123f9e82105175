/** A thing that is sold: its slug in the store, and the stock code and words of the file. */
export interface Good {
  readonly slug: string
  readonly code: string
  readonly title: string
}

/** A line of an invoice: so many units of a good at a price in pence. */
export interface InvoiceLine {
  readonly slug: string
  readonly quantity: number
  readonly unitPrice: number
}

/** One purchase of the file; `lines` as written, so one good may stand on several. */
export interface Invoice {
  readonly number: string
  readonly date: string
  readonly customer: string
  readonly country: string
  readonly lines: ReadonlyArray<InvoiceLine>
}

/** Units that came back on a cancellation; `key` names the line in every later run. */
export interface StockReturn {
  readonly key: string
  readonly slug: string
  readonly quantity: number
}

/** A line that was not used, by its number in the file. */
export interface RefusedLine {
  readonly line: number
  readonly invoice: string
  readonly code: string
  readonly reason: string
}

/** A usable line as the file gives it. */
export interface SaidLine extends Omit<Invoice, "lines"> {
  readonly line: number
  readonly code: string
  readonly title: string
  readonly quantity: number
  readonly unitPrice: number
}

interface OpenInvoice extends Invoice {
  readonly lines: Array<InvoiceLine>
}

const slugOf = (code: string): string => `stock-${code.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`

/**
 * The file sorted into what the service is asked to do.
 *
 * A product has one price at a time, and a cart prices every product once. So where an invoice charges two prices for
 * one stock code, the first price stays with the code's product and each further one gets a separate product,
 * `stock-<code>-at-<pence>`: both can then stand in one cart, and the order adds up to the invoice. Lines of one code
 * at one price become one order line.
 */
export class InvoiceBook {
  readonly #invoices = new Map<string, OpenInvoice>()
  readonly #goods = new Map<string, Good>()
  readonly #returns: Array<StockReturn> = []
  readonly #refused: Array<RefusedLine> = []
  #sold = 0

  get invoices(): ReadonlyArray<Invoice> {
    return [...this.#invoices.values()]
  }
  get goods(): ReadonlyArray<Good> {
    return [...this.#goods.values()]
  }
  get returns(): ReadonlyArray<StockReturn> {
    return this.#returns
  }
  get refused(): ReadonlyArray<RefusedLine> {
    return this.#refused
  }
  /** How many lines were read. */
  get lines(): number {
    return this.#sold + this.#returns.length + this.#refused.length
  }

  refuse(line: RefusedLine): void {
    this.#refused.push(line)
  }

  /** Goods that came back. Their purchase is not in the file, so there is no order to refund. */
  takeBack({ code, line, number, quantity, title }: SaidLine): void {
    this.#returns.push({ key: `${number}:${line}`, slug: this.#good(slugOf(code), code, title), quantity })
  }

  /** A line of a purchase; false, and nothing kept, when its good would then be more units than a cart takes. */
  sell({ code, quantity, title, unitPrice, ...said }: SaidLine, mostUnits: number): boolean {
    const invoice = this.#invoices.get(said.number)
    const slug = slugAt(slugOf(code), unitPrice, invoice?.lines ?? [])
    const units = (invoice?.lines ?? []).reduce((sum, line) => line.slug === slug ? sum + line.quantity : sum, quantity)
    if (units > mostUnits) return false
    const { country, customer, date, number } = said
    const open = invoice ?? { number, date, customer, country, lines: [] }
    open.lines.push({ slug: this.#good(slug, code, title), quantity, unitPrice })
    this.#invoices.set(number, open)
    this.#sold += 1
    return true
  }

  /** Notes a good, with the first description that the file has for it. */
  #good(slug: string, code: string, title: string): string {
    const known = this.#goods.get(slug)
    if (known === undefined || known.title === known.code) this.#goods.set(slug, { slug, code, title: title || code })
    return slug
  }
}

/** The slug under which a code is sold at a price on an invoice that has these lines already. */
const slugAt = (slug: string, unitPrice: number, lines: ReadonlyArray<InvoiceLine>): string => {
  const own = lines.find((line) => line.slug === slug)
  return own === undefined || own.unitPrice === unitPrice ? slug : `${slug}-at-${unitPrice}`
}
