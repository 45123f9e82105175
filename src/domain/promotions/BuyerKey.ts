/** An e-mail address as a buyer's key, null without one: an SQL text over an expression. */
const keyOfEmail = (email: string) =>
  `'email:' || encode(sha256(convert_to(lower(nullif(trim(${email}), '')), 'UTF8')), 'hex')`

/**
 * Keys under which the use of a promotion is counted for one buyer, as a text array: the customer's profile, its address
 * and the address of the cart or order, so that a guest and a customer with one address count together. Both arguments
 * are SQL texts.
 */
export const buyerKeys = (customerId: string, email: string) =>
  `array(select distinct key from unnest(array['customer:' || ${customerId}, ${keyOfEmail(email)},
    (select ${
    keyOfEmail("u.email")
  } from customers_read u where u.id = ${customerId})]) key where key is not null order by key)`
