"""From a sealed run folder to what people and CI read: the page, ``report.json``, the terminal's end, JUnit, Allure."""
