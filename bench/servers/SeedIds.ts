/** The id of the n-th record of a kind: known without asking, valid, and in order like the ids the service makes. */
export const seedId = (kind: "product" | "cart", n: number): string =>
  `00000000-000${kind === "product" ? 1 : 2}-7000-8000-${n.toString(16).padStart(12, "0")}`

/** The same in SQL, of a column or expression that holds n. */
export const seedIdSql = (kind: "product" | "cart" | "other" | "customer" | "order" | "orderLine", n: string): string =>
  `('00000000-000${
    { product: 1, cart: 2, other: 3, customer: 4, order: 5, orderLine: 6 }[kind]
  }-7000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`

/** The secret of every seeded cart. */
export const seedSecret = "bench-secret-of-every-seeded-cart"

export const slugOf = (n: number): string => `product-${n}`

/** How many customers with orders a seeded store has, how many orders each, and how many lines each order. */
export const seedCustomers = { customers: 200, orders: 25, lines: 2 }

/** The token of the session of the n-th seeded customer, from 0. */
export const seedToken = (n: number): string =>
  `BenchSessionOfCustomer${String(n % seedCustomers.customers).padStart(10, "0")}`

/** The same in SQL, of an expression that holds n. */
export const seedTokenSql = (n: string): string => `'BenchSessionOfCustomer' || lpad((${n})::text, 10, '0')`
