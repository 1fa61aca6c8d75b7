"""From a sealed run folder to what people and CI servers read: page, table, JUnit properties, Allure labels."""
